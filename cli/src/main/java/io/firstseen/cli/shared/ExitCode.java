package io.firstseen.cli.shared;

/** What the command ends with; scripts rely on the numbers. */
public final class ExitCode {

  /** It did what it was asked to, or the answer is yes. */
  public static final int GOOD = 0;

  /** A negative answer: invalid, differs, a check does not hold. */
  public static final int NEGATIVE = 1;

  /** The user can mend it: a wrong option, a missing file, an unreachable broker, bad input. */
  public static final int USAGE = 2;

  /** The user cannot: an error of the program, or of the machine it runs on. */
  public static final int PROGRAM = 3;

  private ExitCode() {}
}
