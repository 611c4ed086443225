import { weigh } from '../base/weight.ts'

/** The client ignores further questions while this many are open. */
const MAX_QUESTIONS = 1024
/** The bytes of memory that open questions and waiting replies may take. */
const MAX_BYTES = 67_108_864

/** The memory for the questions of a server and for replies that it does not take. */
export class QuestionRoom {
  #count = 0
  #bytes = 0

  /** Reserves room for a question until `end`. Returns its bytes; 0 if there is too little. */
  begin(question: unknown): number {
    const bytes = weigh(question, MAX_BYTES)
    if (this.#count >= MAX_QUESTIONS || !this.take(bytes)) return 0
    this.#count++
    return bytes
  }

  end(bytes: number): void {
    this.#count--
    this.#bytes -= bytes
  }

  /** Reserves bytes, or releases them if they are negative. Returns whether there is enough room. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > MAX_BYTES) return false
    this.#bytes += bytes
    return true
  }
}
