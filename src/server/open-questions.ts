import { callOf, partsOf, roundsOf, type Context } from './context.ts'

/** Warns the operator if a handler returned while a question that it asked was open: the answer of the user would be lost. */
export function warnIfAsking(context: Context, what: string): void {
  const rounds = roundsOf(context)
  if (rounds === undefined) return
  const [asked] = rounds.open
  const { aborted, cancelled } = callOf(context)
  // A question that ends the round is asked, and the handler runs again.
  if (asked === undefined || rounds.questions.size > 0 || aborted || cancelled) return
  const name = `ctx.${asked.name}`
  partsOf(context).warnOnce(
    'open question',
    what,
    `${what} returned while its question ${name} was still open: its answer is lost; await it: const answer = await ${name}(…)`,
  )
}
