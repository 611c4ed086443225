/** The blank line between head and body. */
export const END_OF_HEAD = '\r\n\r\n'

const LAST_CHUNK = '\r\n0\r\n\r\n'
/** So much of an answer is kept as text; of the rest only the length is known. */
const KEPT = 16 * 1024

/** Reads HTTP/1.1 answers from a connection on which one request at a time is in flight. */
export class AnswerReader {
  /** The beginning of the answer, head and all. */
  text = ''
  /** Its length in bytes, head and all. */
  length = 0
  #need = -1
  #chunked = false
  #tail = ''

  /** Takes bytes from the wire; true when they complete the answer. */
  push(bytes: Buffer, size: number): boolean {
    if (this.length < KEPT) this.text += bytes.toString('latin1', 0, Math.min(size, KEPT - this.length))
    this.length += size
    if (this.#need < 0 && !this.#chunked) this.#readHead()
    if (!this.#chunked) return this.#need >= 0 && this.length >= this.#need
    const end = bytes.toString('latin1', Math.max(0, size - LAST_CHUNK.length), size)
    this.#tail = (this.#tail + end).slice(-LAST_CHUNK.length)
    return this.#tail === LAST_CHUNK
  }

  /** Forgets the answer, for the next one. */
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
