import type { Prompt } from 'pierhead/client'
import { nearest } from '../base/nearest.ts'
import { wrongUsage } from './failure.ts'
import { safeLine } from './safe-text.ts'
import { signatureOf } from './signature.ts'

/** Rejects a prompt that the server does not list, arguments that it does not have, and missing ones. */
export function checkPromptArguments(
  name: string,
  args: Readonly<Record<string, string>>,
  prompts: readonly Prompt[],
): void {
  const prompt = prompts.find((one) => one.name === name)
  if (prompt === undefined) {
    const names = prompts.map((one) => one.name)
    throw wrongUsage(
      `there is no prompt "${name}"${meant(nearest(name, names))}`,
      names.length === 0
        ? 'The server has no prompts.'
        : `The prompts are ${safeLine(names.slice(0, 30).join(', '), 500)}${names.length > 30 ? ', …' : ''}.`,
    )
  }
  const known = argumentsOf(prompt)
  const hint = `The prompt is ${safeLine(signatureOf({ name, arguments: known }), 500)}.`
  const names = known.map((one) => one.name)
  for (const key of Object.keys(args))
    if (!names.includes(key))
      throw wrongUsage(`the prompt has no argument "${key}"${meant(nearest(key, names))}`, hint)
  const missing = known.filter((one) => one.required && !Object.hasOwn(args, one.name))
  if (missing.length > 0)
    throw wrongUsage(
      `${missing.map((one) => `"${safeLine(one.name)}"`).join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing`,
      hint,
    )
}

function argumentsOf({
  arguments: list = [],
}: Prompt): readonly { readonly name: string; readonly required: boolean }[] {
  return list.map(({ name, required }) => ({ name, required: required === true }))
}

function meant(similar: string | undefined): string {
  return similar === undefined ? '' : `; did you mean "${safeLine(similar)}"?`
}
