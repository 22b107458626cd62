package io.firstseen.cli.shared;

/** A subcommand whose resources are closed at its end. */
public abstract class ClosingVerb extends JsonVerb {

  @Override
  public final Integer call() throws Exception {
    return Cleanup.after(this::run);
  }

  /** Runs the command and returns its exit code. */
  protected abstract int run(Cleanup cleanup) throws Exception;
}
