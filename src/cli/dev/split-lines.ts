/** The longest line that is read; the rest of a longer one is dropped. */
const LONGEST = 256 * 1024 * 1024

/** Calls `onLine` with each line of a stream, without its end. Only a line feed ends one: messages may have other separators in texts. */
export function splitLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let parts: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer | string) => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    let from = 0
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      add(bytes.subarray(from, at))
      flush()
      from = at + 1
    }
    add(bytes.subarray(from))
  })
  stream.on('end', flush)

  function add(part: Buffer): void {
    if (part.length === 0 || size + part.length > LONGEST) return
    size += part.length
    parts.push(part)
  }

  function flush(): void {
    const line = Buffer.concat(parts).toString('utf8')
    parts = []
    size = 0
    if (line.trim() !== '') onLine(line)
  }
}
