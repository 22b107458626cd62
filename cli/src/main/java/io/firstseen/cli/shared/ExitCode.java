package io.firstseen.cli.shared;

/** The exit codes of the command; scripts rely on the numbers. */
public final class ExitCode {

  /** Success, or a positive result. */
  public static final int GOOD = 0;

  /** A negative result: invalid, different, or a check failed. */
  public static final int NEGATIVE = 1;

  /** An error that the user can correct, such as a wrong option or a missing file. */
  public static final int USAGE = 2;

  /** An error that the user cannot correct: an error of the program or of its machine. */
  public static final int PROGRAM = 3;

  /** Some keys or URLs could not be evaluated; the results of the others are printed. */
  public static final int INVALID_QUERY = 4;

  private ExitCode() {}
}
