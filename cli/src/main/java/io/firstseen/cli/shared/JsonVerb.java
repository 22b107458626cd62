package io.firstseen.cli.shared;

import com.fasterxml.jackson.databind.node.ObjectNode;
import picocli.CommandLine.Option;

/** A subcommand that prints its result for people or as JSON. */
public abstract class JsonVerb extends Verb {

  // After the other options in the help.
  @Option(
      names = "--json",
      order = 1,
      description = "Print one JSON object, or one per line if there are several results.")
  private boolean json;

  protected final boolean isJson() {
    return json;
  }

  /** Prints the JSON object on one line, or the text. */
  protected final void print(ObjectNode object, String sentence) {
    print(json, object, sentence);
  }

  /** Prints the JSON object or the table. */
  protected final void print(Fields fields) {
    fields.print(reportOut(), json);
  }
}
