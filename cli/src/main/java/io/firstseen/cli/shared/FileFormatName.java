package io.firstseen.cli.shared;

import io.firstseen.jobs.files.FileFormat;
import io.firstseen.jobs.options.OptionValues;

/** Reads the name of a {@link FileFormat}. */
public final class FileFormatName extends OptionValues.LowerCaseName<FileFormat> {
  FileFormatName() {
    super(FileFormat.class);
  }
}
