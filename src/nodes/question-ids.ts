/** Ids of questions contain the number of their node. */
export const QUESTIONS = 1_000_000_000

/** The number of the node that asked a question. */
export function askerOf(id: number): number {
  return Math.floor(id / QUESTIONS)
}
