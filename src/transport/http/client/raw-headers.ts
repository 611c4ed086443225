/** The headers of a reply of Node, whose own objects of headers some names break. */
export function fromRaw(rawHeaders: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string)
  return headers
}
