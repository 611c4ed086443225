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

/**
 * Canned answers: a list supplies one per question, a function answers every question. The client declares only what has
 * answers.
 */
export interface TestAnswers {
  /** Answers to `ctx.elicit`, such as `[{ action: 'accept', content: { sure: true } }]`. Default: forms are not supported. */
  readonly elicit?: readonly FormAnswer[] | Answers['elicit'] | undefined
  /** Answers to `ctx.elicitUrl`: the `action` of the user, such as `[{ action: 'accept' }]`. Default: URLs are not supported. */
  readonly elicitUrl?: readonly { readonly action: FormAnswer['action'] }[] | Answers['elicitUrl'] | undefined
  /** Answers to `ctx.sample`: messages of the model. Default: sampling is not supported. */
  readonly sample?: readonly JsonObject[] | Answers['sample'] | undefined
  /** Whether the model of `sample` may use tools. Default: `false`. */
  readonly sampleTools?: boolean | undefined
  /** The folders for `ctx.roots`. Default: roots are not supported. */
  readonly roots?: Answers['roots'] | undefined
}

/** The options of `testClient`. */
export interface TestOptions {
  /** The revision to speak. Default: the newest; with a profile that changes messages, the one that both sides agree on. */
  readonly revision?: Revision | undefined
  /** The profile, which must match the server's. Default: the official protocol. */
  readonly profile?: Profile | undefined
  /** The caller, as an authenticator would set it. Default: not authenticated. */
  readonly auth?: Auth | undefined
  /** The answers to the server's questions. Default: none, so the client supports no questions. */
  readonly answers?: TestAnswers | undefined
  /** Extensions to declare. Default: none. */
  readonly extensions?: readonly DeclaredExtension[] | undefined
  /** Milliseconds of silence after which a request times out; the longest it may take is 60 s. Default: 10 s. */
  readonly timeout?: number | undefined
}

/** All events in order. */
export type Recorded =
  | {
      /** The progress of a request. */
      readonly kind: 'progress'
      /** What the server reported. */
      readonly value: Progress
    }
  | {
      readonly [Name in keyof ClientEvents]: {
        /** The name of the event. */
        readonly kind: Name
        /** What a listener of the event would get. */
        readonly value: ClientEvents[Name]
      }
    }[keyof ClientEvents]

/** A client for tests: real messages without sockets, recorded events, and faults on demand. */
export class TestClient<Tools = AnyTools> extends Client<Tools> {
  /** Progress, log messages, changes and all other events since the client was opened, in order. */
  readonly events: Recorded[] = []
  /** Breaks the connection, ends the session or slows the server down. */
  readonly faults: Faults

  /** Creates a client that is not open yet; `testClient` also opens it. */
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
      limits,
      maxId: limits.clientIds,
      idLength: limits.idLength,
      maxPages: limits.pages,
      maxQuestions: Infinity,
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

/**
 * Connects a test client to a server in this process.
 *
 * @example
 * await using client = await testClient(app, { auth: { sub: 'zoe' } })
 * expect(await client.call('add', { a: 1, b: 2 })).toBe('3')
 */
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

/**
 * Runs a function once for every revision, oldest first.
 *
 * @example
 * everyRevision((revision) => test(`works at ${revision}`, async () => { … }))
 */
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
