package io.firstseen.filters.cuckoo;

/** A change of one identity or epoch in a page, as {@link LogSegment} records it. */
public enum PageChange {
  /** One more copy of an identity was stored. */
  INSERTION(0),

  /** One copy of an identity was removed. */
  REMOVAL(1),

  /** A copy of an identity moved to a later epoch. */
  RENEWAL(2),

  /** The keys of the page whose epochs were due were forgotten. */
  EXPIRY(3);

  private static final PageChange[] BY_CODE = {INSERTION, REMOVAL, RENEWAL, EXPIRY};

  /** The code in a log segment. */
  final int code;

  PageChange(int code) {
    this.code = code;
  }

  static PageChange of(int code) {
    return BY_CODE[code];
  }
}
