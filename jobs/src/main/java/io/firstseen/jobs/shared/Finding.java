package io.firstseen.jobs.shared;

/**
 * The result of a check.
 *
 * @param check the name of the check
 * @param status the status of the result
 * @param text a sentence that states the result and, if there is a problem, the fix
 */
public record Finding(String check, Status status, String text) {

  public enum Status {
    /** The check passed. */
    OK,
    /** The job works, but its result may not be intended. */
    WARNING,
    /** The job does not work. */
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
