import type { Client, Prompt } from 'pierhead/client'
import { nearest } from '../base/nearest.ts'
import { EXIT } from './exit.ts'
import { failureOf, wrongUsage } from './failure.ts'
import { safeLine } from './safe-text.ts'
import { signatureOf } from './signature.ts'

/** Rejects a prompt that looks like a slip, arguments that it does not have, and missing ones. A server may have prompts that it does not list. */
export async function checkPrompt(
  client: Client,
  name: string,
  args: Readonly<Record<string, string>>,
): Promise<void> {
  const prompts = await client
    .prompts()
    .toArray()
    .catch((error: unknown) => {
      if (failureOf(error).exit !== EXIT.server) throw error
      return []
    })
  const prompt = prompts.find((one) => one.name === name)
  if (prompt === undefined) {
    const names = prompts.map((one) => one.name)
    const similar = nearest(name, names)
    if (similar === undefined) return
    throw wrongUsage(
      `there is no prompt "${name}"${meant(similar)}`,
      `The prompts are ${safeLine(names.slice(0, 30).join(', '), 500)}${names.length > 30 ? ', …' : ''}.`,
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
