package com.example.clicks;

/**
 * A click.
 *
 * @param url the page; null if the record does not name one
 * @param json the record as it came
 */
public record Click(String url, String json) {}
