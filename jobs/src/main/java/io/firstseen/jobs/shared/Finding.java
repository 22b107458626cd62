package io.firstseen.jobs.shared;

/**
 * What a check found.
 *
 * @param check what was checked, in a few words
 * @param status how that is
 * @param text one sentence: what is there, and what to do if that is not good
 */
public record Finding(String check, Status status, String text) {

  /** How something is. */
  public enum Status {
    /** As it must be. */
    OK,
    /** It works, but may not be what is wanted. */
    WARNING,
    /** It does not work. */
    FAILED
  }

  public static Finding ok(String check, String text) {
    return new Finding(check, Status.OK, text);
  }

  public static Finding warning(String check, String text) {
    return new Finding(check, Status.WARNING, text);
  }

  public static Finding failed(String check, String text) {
    return new Finding(check, Status.FAILED, text);
  }
}
