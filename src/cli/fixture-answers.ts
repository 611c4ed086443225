import type { FormAnswer, FormQuestion } from 'pierhead/client'
import type { GivenInFixture } from './fixtures.ts'
import { isMembers } from './config-entry.ts'
import { valueProblem, type Field } from './form-field.ts'
import { safeLine } from './safe-text.ts'

/** Answers the questions of a server with what the fixture says that is being tried. */
export class FixtureAnswers {
  #given: GivenInFixture | undefined
  #problem: string | undefined

  /** Why a question of the call could not be answered; undefined if all could. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Goes on to the next call. */
  begin(given: GivenInFixture | undefined): void {
    this.#given = given
    this.#problem = undefined
  }

  /** Answers a question; one without an answer is cancelled. */
  readonly elicit = ({ message, schema }: FormQuestion): FormAnswer => {
    const given = this.#given
    if (given === 'decline') return { action: 'decline' }
    const answer = given === undefined ? 'the fixture has no answers' : contentOf(given, schema)
    if (typeof answer !== 'string') return { action: 'accept', content: answer }
    this.#problem ??= `${answer}: ${safeLine(message, 300)}`
    return { action: 'cancel' }
  }
}

/** The values of a form, or what is wrong with those of the fixture. */
function contentOf(
  given: Exclude<GivenInFixture, 'decline'>,
  { properties, required }: FormQuestion['schema'],
): Record<string, unknown> | string {
  const values = new Map(given === 'accept' ? [] : Object.entries(given))
  const fields = Object.entries(isMembers(properties) ? properties : {}) as readonly (readonly [
    string,
    Field,
  ])[]
  const needed: ReadonlySet<unknown> = new Set(Array.isArray(required) ? required : [])
  for (const [name, field] of fields) {
    if (!values.has(name)) {
      if (needed.has(name) && field.default === undefined)
        return `the fixture has no answer for ${safeLine(name, 80)}`
      continue
    }
    const wrong = valueProblem(values.get(name), field)
    if (wrong !== undefined) return `the answer for ${safeLine(name, 80)} is wrong, ${wrong}`
  }
  const names = new Set(fields.map(([name]) => name))
  return Object.fromEntries([...values].filter(([name]) => names.has(name)))
}
