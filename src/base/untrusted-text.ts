/** What a peer put where a text belongs: text as it is, all else as JSON. A `toString` that the peer sent along is not asked. */
export function untrustedText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
}
