package com.example.clicks;

/**
 * A click.
 *
 * @param url the page; null if the record does not name one
 * @param json the record value
 */
public record Click(String url, String json) {}
