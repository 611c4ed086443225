/** Modules that only a client with `auth` may have. */
const LOGINS = /(?:^|\/)src\/(?:auth\/|rpc\/stop-clock)/

/** The modules of every client that logins use, and how many bytes of each a client without `auth` may have, minified. */
export const LOGIN_HOOKS: Readonly<Record<string, number>> = {
  'src/rpc/logins.ts': 130,
  'src/rpc/client-auth.ts': 140,
  'src/rpc/clock.ts': 390,
}

/** The code for logins that a client without `auth` should not have, by its files and their minified bytes. */
export function loginCode(inputs: ReadonlyMap<string, number>): readonly string[] {
  return [...inputs].flatMap(([file, bytes]) => {
    if (bytes > 0 && LOGINS.test(file)) return `${file} is in a client without auth`
    const most = LOGIN_HOOKS[file] ?? Infinity
    return bytes > most ? `${file} has ${bytes} bytes in a client without auth, more than ${most}` : []
  })
}
