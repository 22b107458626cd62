/**
 * A cuckoo filter that supports deletion and grows page by page. Its false-positive rate depends
 * only on the number of keys and the length of their fingerprints.
 *
 * <p>It is the filter of Fan, Andersen, Kaminsky and Mitzenmacher ("Cuckoo Filter: Practically
 * Better Than Bloom", CoNEXT 2014), divided into pages of 512 buckets. A key keeps one fingerprint
 * of P bits for life, its identity. A slot stores only those bits of it that the slot's position
 * does not imply, so a full page can be split in two without the keys.
 */
package io.firstseen.filters.cuckoo;
