/** Why the file system refuses, in words; the code itself where there are none. */
export function fileReason(cause: unknown): string {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : 'unknown reason';
  return reasons[code] ?? code;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the quota of the disk is used up',
  EEXIST: 'a file of this name is in the way',
  EFTYPE: 'it is no regular file',
  EIO: 'the disk fails',
  EISDIR: 'it is a directory',
  ELOOP: 'its links lead round in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'its directory does not exist',
  ENOSPC: 'no space is left on the device',
  ENOTDIR: 'a part of its path is no directory',
  ENOTSUP: 'its file system takes no directories',
  ENXIO: 'it is no regular file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ERR_FS_EISDIR: 'it is a directory',
};

/** A file system has refused something: it is no defect of the program. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && (/^E[A-Z0-9]+$/.test(String(error.code)) || error.code === 'ERR_FS_EISDIR');
}

/** Nothing stands at the path. */
export function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}
