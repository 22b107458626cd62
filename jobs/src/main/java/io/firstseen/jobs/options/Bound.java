package io.firstseen.jobs.options;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Whether the value of an option must match an earlier start or another job. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Bound {

  /** The component that compares the value. */
  enum By {
    /** The dedup, with its state and the claims topic; also {@code SnapshotJob}, if it has it. */
    IDENTITY,
    /** {@code SnapshotJob}, with the claims topic. The dedup may change the value at a restart. */
    CHANGELOG,
    /** The operators, with their own state, or Flink. */
    STATE,
    /** The publisher of a set, with its state. */
    PUBLISHER,
    /** The source of {@code SnapshotJob}, with its state. */
    SOURCE,
    /** No component: the state keeps its value, and the dedup job logs a warning. */
    WARNING,
    /** No component: the value may change at any restart. */
    NOTHING
  }

  /** The end of the description of a setting that {@code SnapshotJob} also has, and compares. */
  String IDENTITY_TEXT =
      " and of the set; SnapshotJob fails unless its value matches the dedup job's";

  /** The component that compares the value. */
  By value();

  /** The text of the value that applies if the option is not set. */
  String unset() default "none";
}
