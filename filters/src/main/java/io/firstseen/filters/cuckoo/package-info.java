/**
 * A cuckoo filter that deletes, grows without a stop, and keeps its false-positive rate by a law.
 *
 * <p>The filter is Fan, Andersen, Kaminsky and Mitzenmacher's ("Cuckoo Filter: Practically Better
 * Than Bloom", CoNEXT 2014), cut into pages of 512 buckets. A key keeps one identity of P bits for
 * life; a page stores the part of it that the place does not imply, so a full page splits in two
 * without the keys.
 */
package io.firstseen.filters.cuckoo;
