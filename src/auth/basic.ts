/** The value of the header `Authorization` for an id and a secret, each encoded as RFC 6749, section 2.3.1 says. */
export function basicCredentials(id: string, secret: string): string {
  return `Basic ${btoa(`${encode(id)}:${encode(secret)}`)}`
}

/** Encodes no more than necessary: some servers do not decode. */
function encode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
