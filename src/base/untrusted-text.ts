/** Text from a peer: strings unchanged, anything else as JSON. It never calls a `toString` supplied by the peer. */
export function untrustedText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
}
