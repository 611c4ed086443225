/** A URL of a server that a user may be asked to open, as a browser would show it; undefined unless it is http or https, without credentials. */
export function toWebUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value) || !URL.canParse(value)) return undefined
  const { href, username, password } = new URL(value)
  // What looks like the host in `https://bank.example@evil.example` is a user name.
  return username === '' && password === '' ? href : undefined
}
