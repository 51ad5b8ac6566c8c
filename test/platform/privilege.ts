/** Does what may not be done as another user, so that permissions hold also where tests run as root. */
export async function withoutPrivilege<T>(use: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return use();
  process.seteuid?.(65534);
  try {
    return await use();
  } finally {
    process.seteuid?.(0);
  }
}
