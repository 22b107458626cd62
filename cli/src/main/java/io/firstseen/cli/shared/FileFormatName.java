package io.firstseen.cli.shared;

import io.firstseen.jobs.OptionValues;
import io.firstseen.jobs.files.FileFormat;

/** Reads the name of a {@link FileFormat}. */
public final class FileFormatName extends OptionValues.LowerCaseName<FileFormat> {
  FileFormatName() {
    super(FileFormat.class);
  }
}
