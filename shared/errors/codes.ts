/**
 * Every code a `CepError` can carry, with the exit code of the process that ends because of it.
 *
 * Exit codes: 0 success, 1 syntax, validation or usage, 2 file not found or I/O, 3 configuration, 4 runtime.
 * Codes are part of the interface: they may be added, never renamed or reused.
 */
export const errorCodes = {
  /** The command line itself is wrong: an unknown command or option, or a bad value of a flag. */
  usage_error: { exitCode: 1 },
  /** A program or an event cannot be read. */
  parse_error: { exitCode: 1 },
  /** A program can be read and cannot work. */
  validation_error: { exitCode: 1 },
  /** A file that was named does not exist. */
  file_not_found: { exitCode: 2 },
  /** A file or stream exists and cannot be read or written. */
  io_error: { exitCode: 2 },
  /** A setting in a configuration file or an environment variable is wrong. */
  config_error: { exitCode: 3 },
  /** Something outside the program failed while it ran, for example a broker or a model. */
  runtime_error: { exitCode: 4 },
} as const satisfies Record<string, { readonly exitCode: 1 | 2 | 3 | 4 }>;

export type ErrorCode = keyof typeof errorCodes;
