import type { Context } from 'pierhead'

type Sampled = Awaited<ReturnType<Context['sample']>>

/** The user's answer on one line. */
export function describe(answer: { readonly action: string; readonly content?: unknown }): string {
  return `action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`
}

/** The text of the model's answer. */
export function textOf(answer: Sampled): string {
  return [answer.content]
    .flat()
    .map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
    .join(' ')
}
