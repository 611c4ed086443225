/** The blank line between head and body. */
export const END_OF_HEAD = '\r\n\r\n'

const LAST_CHUNK = '\r\n0\r\n\r\n'
/** Only this many bytes of an answer are kept as text; the rest is only counted. */
const KEPT = 16 * 1024

/** Reads HTTP/1.1 answers from a connection with one request in flight at a time. */
export class AnswerReader {
  /** The beginning of the answer, including its head. */
  text = ''
  /** Its length in bytes, including its head. */
  length = 0
  #need = -1
  #chunked = false
  #tail = ''

  /** Adds bytes from the wire; returns whether the answer is complete. */
  push(bytes: Buffer, size: number): boolean {
    if (this.length < KEPT) this.text += bytes.toString('latin1', 0, Math.min(size, KEPT - this.length))
    this.length += size
    if (this.#need < 0 && !this.#chunked) this.#readHead()
    if (!this.#chunked) return this.#need >= 0 && this.length >= this.#need
    const end = bytes.toString('latin1', Math.max(0, size - LAST_CHUNK.length), size)
    this.#tail = (this.#tail + end).slice(-LAST_CHUNK.length)
    return this.#tail === LAST_CHUNK
  }

  /** Resets the reader for the next answer. */
  clear(): void {
    this.text = ''
    this.length = 0
    this.#need = -1
    this.#chunked = false
    this.#tail = ''
  }

  #readHead(): void {
    const end = this.text.indexOf(END_OF_HEAD)
    if (end < 0) return
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.text.slice(0, end))
    if (length) this.#need = end + END_OF_HEAD.length + Number(length[1])
    else this.#chunked = true
  }
}
