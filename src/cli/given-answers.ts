import type { Answers, FormAnswer, FormQuestion } from 'pierhead/client'
import type { Option } from './command.ts'
import { isMembers } from './config-entry.ts'
import { Failure, wrongUsage } from './failure.ts'
import { choiceValues, valueProblem, type Field } from './form-field.ts'
import type { Io } from './io.ts'
import { safeLine } from './safe-text.ts'
import { shellWord } from './shell-word.ts'
import { toolArguments } from './tool-arguments.ts'

/** The option that answers questions of a server without a terminal. */
export const ANSWER_OPTION: Option = {
  flags: '--answer <answer>',
  summary: 'an answer to a question of the server: name=value for a field, accept, or decline',
  isMany: true,
}

/** Answers from the command line. */
export interface GivenAnswers extends Pick<Answers, 'elicit'> {
  /** Why a question could not be answered; undefined if all could. */
  readonly problem: Failure | undefined
}

const WAYS = 'Write --answer name=value, --answer accept or --answer decline.'

/** Answers the questions of a server with what `--answer` says. Throws if that is not of a known form. */
export function givenAnswers(given: readonly string[], io: Io): GivenAnswers {
  const wrong = given.find((one) => !/^[^=]+=/.test(one) && !['accept', 'decline'].includes(one))
  if (wrong !== undefined) throw wrongUsage(`--answer: "${wrong}" is not an answer`, WAYS)
  let problem: Failure | undefined
  return {
    get problem() {
      return problem
    },
    async elicit(question) {
      try {
        return await answerTo(question, given, io)
      } catch (error) {
        // A server of an older revision would tell of it in its own words.
        if (error instanceof Failure) problem ??= error
        throw error
      }
    },
  }
}

async function answerTo(
  { message, schema }: FormQuestion,
  given: readonly string[],
  io: Io,
): Promise<FormAnswer> {
  if (given.includes('decline')) return { action: 'decline' }
  const { properties, required } = schema
  const fields = new Map(Object.entries(isMembers(properties) ? properties : {}))
  if (fields.size === 0 && !given.includes('accept'))
    throw unanswered(message, 'It has no fields: add --answer accept to agree, or --answer decline.')
  const words = given.filter((one) => fields.has(one.replace(/:?=[^]*$/, '')))
  const content = await toolArguments({ words, schema }, io)
  const names = Array.isArray(required)
    ? required.filter((one): one is string => typeof one === 'string')
    : []
  const missing = names.find(
    (name) => !Object.hasOwn(content, name) && (fields.get(name) as Field | undefined)?.default === undefined,
  )
  if (missing !== undefined)
    throw unanswered(
      `${message} (${safeLine(missing, 80)})`,
      `Its fields are ${safeLine([...fields.keys()].slice(0, 30).join(', '), 500)}: add --answer name=value for each, or --answer decline.`,
    )
  for (const [name, value] of Object.entries(content)) {
    const field = (fields.get(name) ?? {}) as Field
    const wrong = valueProblem(value, field)
    if (wrong === undefined) continue
    const [choice] = choiceValues(field)
    const example =
      typeof choice === 'string' ? shellWord(`${safeLine(name, 80)}=${safeLine(choice, 80)}`) : undefined
    throw wrongUsage(
      `--answer ${safeLine(name, 80)}: ${wrong}`,
      example === undefined ? WAYS : `Write --answer ${example}, or --answer decline.`,
    )
  }
  return { action: 'accept', content }
}

function unanswered(what: string, hint: string): Failure {
  return wrongUsage(`no --answer is for the question of the server: ${safeLine(what, 300)}`, hint)
}
