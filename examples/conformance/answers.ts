import type { Context } from 'pierhead'

type Sampled = Awaited<ReturnType<Context['sample']>>

/** What a user answered, as one line. */
export function told(answer: { readonly action: string; readonly content?: unknown }): string {
  return `action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`
}

/** The text of what a model answered. */
export function textOf(answer: Sampled): string {
  return [answer.content]
    .flat()
    .map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
    .join(' ')
}
