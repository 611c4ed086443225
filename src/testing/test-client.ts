import { Client } from '../client/client.ts'
import type { Answers, FormAnswer } from '../client/answers.ts'
import { declarationOf, EXTENSIONS, ROOTS, type DeclaredExtension } from '../client/declared.ts'
import { EVENTS, type ClientEvents } from '../client/events.ts'
import type { Progress } from '../client/options.ts'
import type { LocalServer } from '../client/target.ts'
import type { AnyTools } from '../client/typed.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { FLAG, NUMBER, object, oneOf, type Kind, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { readLimits } from '../base/limits.ts'
import { CLIENT_LIMITS } from '../protocol/client-limits.ts'
import { LATEST, REVISIONS, type Revision } from '../protocol/revisions.ts'
import { PROFILE } from '../profiles/kind.ts'
import type { Profile } from '../profiles/profile.ts'
import type { Auth } from '../rpc/call.ts'
import { connectMemory } from '../transport/memory/client.ts'
import { withFaults, type Faults } from './faults.ts'

/** Canned answers: a list supplies one per question, a function answers every question. */
export interface TestAnswers {
  readonly elicit?: readonly FormAnswer[] | Answers['elicit'] | undefined
  readonly elicitUrl?: readonly { readonly action: FormAnswer['action'] }[] | Answers['elicitUrl'] | undefined
  readonly sample?: readonly JsonObject[] | Answers['sample'] | undefined
  readonly sampleTools?: boolean | undefined
  readonly roots?: Answers['roots'] | undefined
}

export interface TestOptions {
  readonly revision?: Revision | undefined
  /** The profile, which must match the server's. */
  readonly profile?: Profile | undefined
  /** The caller, as an authenticator would set it. */
  readonly auth?: Auth | undefined
  readonly answers?: TestAnswers | undefined
  /** Extensions to declare. */
  readonly extensions?: readonly DeclaredExtension[] | undefined
  readonly timeout?: number | undefined
}

/** All events in order. */
export type Recorded =
  | { readonly kind: 'progress'; readonly value: Progress }
  | {
      readonly [Name in keyof ClientEvents]: { readonly kind: Name; readonly value: ClientEvents[Name] }
    }[keyof ClientEvents]

/** A client for tests: real messages without sockets, recorded events, and faults on demand. */
export class TestClient<Tools = AnyTools> extends Client<Tools> {
  readonly events: Recorded[] = []
  readonly faults: Faults

  constructor(server: LocalServer<Tools>, options: TestOptions) {
    const limits = readLimits(CLIENT_LIMITS)
    const { open, faults } = withFaults(connectMemory(server, { limits, auth: options.auth }))
    super({
      open,
      key: undefined,
      paramHeaders: false,
      checks: false,
      client: { name: 'test', version: '1.0.0' },
      revision: options.revision ?? (options.profile?.spoken === undefined ? LATEST : undefined),
      dialects: options.profile?.spoken,
      idleMs: options.timeout ?? 10_000,
      totalMs: 60_000,
      probeMs: 1_000,
      maxId: limits.clientIds,
      maxPages: limits.pages,
      backoff: { firstMs: limits.reconnectFirstMs, maxMs: limits.reconnectMaxMs },
      answers: toAnswers(options.answers ?? {}),
      extensions: declarationOf(options.extensions),
    })
    this.faults = faults
    for (const kind of EVENTS) this.on(kind, (value) => this.events.push({ kind, value } as Recorded))
    this.use((request, next) => {
      const { onProgress } = request.options
      const record = (value: Progress): void => {
        this.events.push({ kind: 'progress', value })
        onProgress?.(value)
      }
      return next({ options: { ...request.options, onProgress: record } })
    })
  }
}

const OPTIONS: KindsOf<TestOptions> = {
  revision: oneOf(...REVISIONS),
  profile: PROFILE,
  auth: object<Auth>(),
  answers: object<TestAnswers>(),
  extensions: EXTENSIONS,
  timeout: NUMBER,
}
const ANSWERS: KindsOf<TestAnswers> = {
  elicit: script<NonNullable<TestAnswers['elicit']>>(),
  elicitUrl: script<NonNullable<TestAnswers['elicitUrl']>>(),
  sample: script<NonNullable<TestAnswers['sample']>>(),
  sampleTools: FLAG,
  roots: ROOTS,
}

/** Answers given in advance, or what gives them. */
function script<Value>(): Kind<Value> {
  return {
    must: 'a function or a list of answers',
    is: (value) => typeof value === 'function' || Array.isArray(value),
  }
}

/** Connects a test client to a server in this process. */
export async function testClient<Tools = AnyTools>(
  server: LocalServer<Tools>,
  options: TestOptions = {},
): Promise<TestClient<Tools>> {
  if (typeof (server as Partial<LocalServer> | undefined)?.connect !== 'function')
    throw mcpError(BAD_OPTION, {
      where: 'testClient',
      reason: 'pass the server that createServer returned: testClient(app)',
    })
  checkOptions('testClient', options, OPTIONS)
  return new TestClient<Tools>(server, options).open()
}

/** Runs a function once for every revision. */
export function everyRevision(run: (revision: Revision) => void): void {
  for (const revision of REVISIONS) run(revision)
}

function toAnswers(answers: TestAnswers): Answers {
  checkOptions('testClient answers', answers, ANSWERS)
  const { elicit, elicitUrl, sample, sampleTools, roots } = answers
  return {
    ...(elicit === undefined ? {} : { elicit: given('elicit', elicit) }),
    ...(elicitUrl === undefined ? {} : { elicitUrl: given('elicitUrl', elicitUrl) }),
    ...(sample === undefined ? {} : { sample: given('sample', sample) }),
    ...(sampleTools === undefined ? {} : { sampleTools }),
    ...(roots === undefined ? {} : { roots }),
  }
}

function given<Question extends (...args: never[]) => unknown>(
  name: string,
  answers: readonly Awaited<ReturnType<Question>>[] | Question,
): Question {
  if (typeof answers === 'function') return answers
  const left = [...answers]
  return (() => {
    const next = left.shift()
    if (next === undefined)
      throw new Error(`the test has only ${answers.length} answers for ${name}, but was asked once more`)
    return next
  }) as unknown as Question
}
