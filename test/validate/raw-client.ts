import { Deferred } from '../../src/base/deferred.ts'
import { encodedHeader } from '../../src/validate/header-value.ts'
import {
  isObject,
  isRequest,
  isResponse,
  member,
  messagesIn,
  parsed,
  type Message,
} from '../../src/validate/message.ts'
import { CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION } from '../../src/validate/session.ts'
import type { RunningClient, StartableClient } from '../../src/validate/client/program.ts'
import type { Address } from '../../src/validate/client/serve.ts'
import { usualAnswer } from '../../src/validate/answer.ts'
import { isRevision, type Revision } from '../../src/protocol/revisions.ts'
import type { ClientFault, Quirk } from './client-fault.ts'
import { HttpRefusal, LostStream, openOlder, RawHttp } from './raw-http.ts'
import { RawTasks } from './raw-tasks.ts'
import { openLink, type RawLink } from './raw-links.ts'

function capabilitiesAt(revision: Revision, hasTasks: boolean): Message {
  const elicitation = revision >= '2025-11-25' ? { form: {}, url: {} } : {}
  const requests = { elicitation: { create: {} }, sampling: { createMessage: {} } }
  return {
    roots: { listChanged: true },
    sampling: {},
    elicitation,
    ...(hasTasks && revision === '2025-11-25' && { tasks: { cancel: {}, requests } }),
    ...(hasTasks && revision === '2026-07-28' && { extensions: { 'io.modelcontextprotocol/tasks': {} } }),
  }
}
const INFO = { name: 'raw-client', version: '1.0.0' }
/** How long to wait for a response; a login on the way takes several requests. */
const [PATIENCE_MS, LOGIN_PATIENCE_MS] = [2_000, 10_000]

/** A small correct client, with one fault if there is one. It runs in this process. */
export function rawClient(fault?: ClientFault): StartableClient {
  return {
    async start(address, variables): Promise<RunningClient> {
      const { PIERHEAD_VALIDATE_REVISION: revision, PIERHEAD_VALIDATE_SCENARIO: scenario } = variables
      const client = new RawClient(address, revision as Revision, fault)
      if (scenario?.startsWith('login') === true) client.patienceMs = LOGIN_PATIENCE_MS
      const ended = client.run().then(
        () => 'ended',
        (error: unknown) => `failed: ${String(error)}`,
      )
      return { ended, stop: () => client.leave() }
    },
  }
}

class RpcError extends Error {
  readonly error: Message

  constructor(error: Message) {
    super(`error ${JSON.stringify(error)}`)
    this.error = error
  }
}

class RawClient {
  patienceMs = PATIENCE_MS
  readonly #address: Address
  readonly #revision: Revision
  readonly #fault: ClientFault | undefined
  #link: RawLink | undefined
  #nextId = 1
  #hasLeft = false
  #isBroken = false
  #isDown = false
  readonly #questions: RawTasks
  readonly #left = new Deferred<void>()
  readonly #kept = new Map<string, Message>()
  #tools: readonly Message[] = []
  readonly #waiting = new Map<unknown, (response: Message | undefined) => void>()

  constructor(address: Address, revision: Revision, fault: ClientFault | undefined) {
    this.#address = address
    this.#revision = revision
    this.#fault = fault
    this.#questions = new RawTasks(fault?.quirk)
  }

  get #capabilities(): Message {
    return capabilitiesAt(this.#revision, !this.#has('has no tasks'))
  }

  get #isModern(): boolean {
    return this.#revision === '2026-07-28'
  }

  #has(quirk: Quirk): boolean {
    return this.#fault?.quirk === quirk
  }

  async run(): Promise<void> {
    try {
      await this.#open(this.#address.transport === 'sse')
      const greeting = this.#isModern ? await this.#discover() : await this.#initialize()
      if (greeting !== undefined) await this.#useEverything(greeting)
    } finally {
      await this.leave()
    }
  }

  async #open(isOlder: boolean): Promise<void> {
    const options = {
      address: this.#address,
      fault: this.#fault,
      onText: (text: string) => this.#onText(text),
      onClose: () => {
        this.#isDown = true
        for (const settle of this.#waiting.values()) settle(undefined)
      },
    }
    if (isOlder) this.#link = await openOlder(options)
    else if (this.#address.transport === 'http') {
      const http = new RawHttp(options, this.#revision)
      http.paramHeaders = (message) => this.#paramHeaders(message)
      this.#link = http
    } else this.#link = await openLink(options)
  }

  /** The server program has died: another one is started. */
  async #restart(): Promise<void> {
    if (this.#has('waits for a dead server')) await this.#left.promise
    if (this.#hasLeft || this.#has('breaks on stderr')) throw new Error('the client has left')
    this.#isDown = false
    await this.#open(false)
  }

  async leave(): Promise<void> {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#left.resolve()
    await this.#link?.close().catch(() => undefined)
  }

  #onText(text: string): void {
    const value = parsed(text)
    if (Array.isArray(value) && (this.#revision !== '2025-03-26' || this.#has('ignores batches'))) return
    const messages = messagesIn(value)
    for (const message of messages) {
      if (isResponse(message)) this.#waiting.get(message['id'])?.(message)
      else if (isRequest(message)) void this.#answer(message).catch(() => undefined)
      else if (this.#fault?.breaksOn === message['method']) this.#isBroken = true
      else if (this.#has('answers notifications'))
        void this.#link
          ?.send({ jsonrpc: '2.0', id: null, error: { code: -32_601, message: 'no such notification' } })
          .catch(() => undefined)
    }
  }

  async #answer({ id, method, params }: Message): Promise<void> {
    if (this.#isModern && !this.#has('answers at any revision')) return
    if (method === 'ping' && this.#has('ignores ping')) return
    const result = method === 'ping' ? {} : await this.#answerTo(String(method), params)
    const code = String(method).startsWith('tasks/') ? -32_602 : -32_601
    const progressToken = member(params, '_meta', 'progressToken')
    if (progressToken !== undefined)
      for (const progress of [1, 2]) await this.#notify('notifications/progress', { progressToken, progress })
    await this.#link?.send({
      jsonrpc: '2.0',
      id,
      ...(result === undefined ? { error: { code, message: 'This cannot be answered' } } : { result }),
    })
  }

  /** Answers a question of the server; undefined if the client does not. */
  async #answerTo(method: string, params: unknown): Promise<Message | undefined> {
    if (method.startsWith('tasks/') && !this.#has('has no tasks'))
      return this.#questions.reply(method, params)
    if (member(params, 'task') !== undefined && !this.#has('has no tasks'))
      return this.#questions.begin(usualAnswer(method, params) ?? {})
    const url = member(params, 'url')
    if (typeof url === 'string' && this.#has('fetches URLs'))
      await fetch(url).then((reply) => reply.body?.cancel())
    const schema = JSON.stringify(member(params, 'requestedSchema') ?? {})
    if (this.#has('knows enum only') && /oneOf|anyOf/.test(schema)) return undefined
    const isForm = method === 'elicitation/create' && member(params, 'mode') === undefined
    return isForm && this.#has('needs a mode') ? undefined : usualAnswer(method, params)
  }

  #requestOf(method: string, params: Message = {}, id: unknown = this.#nextId++): Message {
    const meta = {
      [PROTOCOL_VERSION]: this.#revision,
      [CLIENT_CAPABILITIES]: this.#capabilities,
      [CLIENT_INFO]: INFO,
    }
    return {
      jsonrpc: '2.0',
      id,
      method,
      params: this.#isModern ? { ...params, _meta: { ...(params['_meta'] as Message), ...meta } } : params,
    }
  }

  async #request(method: string, params: Message = {}): Promise<Message> {
    return this.#exchange(this.#requestOf(method, params))
  }

  /** Sends a request and waits for its result. */
  async #exchange(message: Message): Promise<Message> {
    try {
      return await this.#once(message)
    } catch (error) {
      if (!(error instanceof LostStream)) throw error
      // A lost request is a new one, where it cannot be resumed.
      const { id } = message
      return this.#once({
        ...message,
        id: this.#has('sends lost requests again with the same id') ? id : this.#nextId++,
      })
    }
  }

  async #once(message: Message): Promise<Message> {
    if (this.#isBroken) throw new Error('the client is broken')
    if (this.#isDown && this.#isModern && this.#address.transport === 'stdio') await this.#restart()
    const { id } = message
    const response = await new Promise<Message | undefined>((resolve, reject) => {
      const timer = setTimeout(
        () => {
          resolve(undefined)
          void this.#cancel(message).catch(() => undefined)
        },
        this.patienceMs * (this.#has('never listens again') ? 4 : 1),
      )
      this.#waiting.set(id, (found) => {
        clearTimeout(timer)
        resolve(found)
      })
      this.#link?.send(message).catch((error: unknown) => {
        clearTimeout(timer)
        const body = error instanceof HttpRefusal ? member(error.body, 'error') : undefined
        reject(isObject(body) && this.#isModern ? new RpcError(body) : (error as Error))
      })
    })
    this.#waiting.delete(id)
    if (response === undefined) throw new Error(`no response to ${String(message['method'])}`)
    if (isObject(response['error'])) throw new RpcError(response['error'])
    return this.#checked(response['result'])
  }

  /** A result whose type is known. */
  #checked(result: unknown): Message {
    const found = isObject(result) ? result : {}
    const type = found['resultType'] as string | undefined
    const isKnown = type === undefined || ['complete', 'input_required', 'task'].includes(type)
    if (!this.#isModern || isKnown || this.#has('takes results of any type')) return found
    throw new Error(`the result is of the type ${JSON.stringify(type)}`)
  }

  /** Tells the server that nobody waits for a response any more. */
  async #cancel({ id, method }: Message): Promise<void> {
    const isStream = this.#isModern && this.#address.transport === 'http'
    if (!isStream && method !== 'initialize') await this.#notify('notifications/cancelled', { requestId: id })
  }

  async #notify(method: string, params?: Message): Promise<void> {
    await this.#link?.send({ jsonrpc: '2.0', method, ...(params && { params }) })
  }

  async #initialize(): Promise<Message | undefined> {
    if (this.#has('asks before initialize')) await this.#request('tools/list').catch(() => undefined)
    const params = {
      protocolVersion: this.#revision,
      capabilities: this.#capabilities,
      clientInfo: INFO,
    }
    const greeting = this.#requestOf('initialize', params)
    if (this.#has('opens with a batch')) {
      await this.#link?.send([greeting, this.#requestOf('ping')]).catch(() => undefined)
      return undefined
    }
    const early = this.#has('asks too early')
    const waiting = this.#exchange(greeting)
    if (early) void this.#request('tools/list').catch(() => undefined)
    if (this.#has('cancels initialize'))
      await this.#notify('notifications/cancelled', { requestId: greeting['id'], reason: 'too slow' })
    const result = await this.#orOlder(waiting)
    const version = result['protocolVersion']
    if (!isRevision(version) && !this.#has('accepts any version')) return undefined
    if (this.#link instanceof RawHttp) this.#link.isGreeted = true
    if (this.#link instanceof RawHttp && this.#revision === '2025-11-25')
      void this.#link.listen().catch(() => undefined)
    if (!this.#has('skips initialized')) await this.#notify('notifications/initialized')
    return result
  }

  /** A server that refuses POST may speak the transport of 2024-11-05. */
  async #orOlder(waiting: Promise<Message>): Promise<Message> {
    try {
      return await waiting
    } catch (error) {
      const isRefused = error instanceof HttpRefusal && [400, 404, 405].includes(error.status)
      if (!isRefused) throw error
      await this.#open(true)
      return this.#request('initialize', {
        protocolVersion: this.#revision,
        capabilities: this.#capabilities,
        clientInfo: INFO,
      })
    }
  }

  async #discover(): Promise<Message> {
    try {
      return await this.#request('server/discover')
    } catch (error) {
      const code = error instanceof RpcError ? error.error['code'] : undefined
      if (error instanceof HttpRefusal) return this.#olderGreeting(error)
      if (code !== -32_022 || this.#has('gives up on other versions')) throw error
      if (this.#has('repeats the version'))
        for (let i = 0; i < 5; i++) await this.#request('server/discover').catch(() => undefined)
      const supported = member((error as RpcError).error, 'data', 'supported')
      if (!Array.isArray(supported) || !supported.includes(this.#revision)) throw error
      return this.#request('server/discover')
    }
  }

  /** A server without this revision is greeted in the older way. */
  async #olderGreeting(error: HttpRefusal): Promise<Message> {
    await this.#orOlder(Promise.reject(error))
    return {}
  }

  async #useEverything({ capabilities }: Message): Promise<void> {
    const offers = (name: string): boolean =>
      this.#has('ignores capabilities') || (isObject(capabilities) && Object.hasOwn(capabilities, name))
    if (this.#has('two requests with one id'))
      for (const method of ['tools/call', 'prompts/list']) void this.#tried(method, { name: 'count' }, 'same')
    if (this.#has('two requests with one token'))
      for (let time = 0; time < 10; time++)
        void this.#tried('tools/call', { name: 'count', _meta: { progressToken: 'same' } })
    if (offers('tools')) {
      for (let time = 0; time < 2; time++) await this.#listTools()
      for (const { name, inputSchema } of this.#tools) await this.#call(String(name), inputSchema)
    }
    if (offers('resources')) {
      const { resources } = await this.#tried('resources/list')
      for (const { uri } of itemsOf(resources))
        for (let time = 0; time < 2; time++) await this.#tried('resources/read', { uri })
    }
    if (!offers('prompts')) return
    const { prompts } = await this.#tried('prompts/list')
    for (const { name, arguments: list } of itemsOf(prompts))
      await this.#tried('prompts/get', {
        name,
        ...(Array.isArray(list) && {
          arguments: Object.fromEntries(itemsOf(list).map((one) => [String(one['name']), 'ships'])),
        }),
      })
  }

  async #listTools(): Promise<void> {
    const tools: Message[] = []
    let cursor: unknown
    for (let page = 0; page < (this.#has('reads two pages') ? 2 : 10); page++) {
      const result = await this.#tried('tools/list', cursor === undefined ? {} : { cursor })
      tools.push(...itemsOf(result['tools']))
      cursor = result['nextCursor']
      if (cursor === undefined || (cursor === '' && this.#has('ends at an empty cursor'))) break
    }
    if (this.#has('fetches references'))
      for (const [, url] of JSON.stringify(tools).matchAll(/"\$ref":"(http[^"]*)"/g))
        await fetch(String(url)).then((reply) => reply.body?.cancel())
    this.#tools = tools.filter((tool) => {
      if (this.#address.transport !== 'http' || !this.#isModern) return true
      if (this.#has('drops good tools') && headerNames(tool).length > 0) return false
      return this.#has('calls tools with bad headers') || headerNames(tool).every(({ isGood }) => isGood)
    })
  }

  async #call(name: string, schema: unknown): Promise<void> {
    const params: Message = { name, arguments: argumentsOf(schema), ...this.#progress() }
    try {
      await this.#rounds('tools/call', params)
    } catch (error) {
      if (error instanceof HttpRefusal && error.status === 404) await this.#again()
      const code = error instanceof RpcError ? error.error['code'] : undefined
      if (code !== -32_020 || this.#has('never lists again')) return
      await this.#listTools()
      await this.#request('tools/call', params).catch(() => undefined)
    }
  }

  /** Sends a request, and repeats it with answers for as long as the server asks. */
  async #rounds(method: string, params: Message, id?: unknown): Promise<Message> {
    let result = await this.#exchange(this.#requestOf(method, params, id ?? this.#nextId++))
    for (let round = 0; round < 3 && result['resultType'] === 'input_required'; round++) {
      result = await this.#request(method, { ...params, ...(await this.#roundOf(result)) })
      if (this.#has('caches repeated requests')) this.#keep(`${method} ${JSON.stringify(params)}`, result)
    }
    for (let poll = 0; poll < 10 && isWorking(result); poll++)
      result = await this.#request('tasks/get', { taskId: result['taskId'] })
    return result
  }

  #keep(key: string, result: Message): void {
    const { ttlMs } = result
    const isKept = this.#has('caches without a lifetime') ? Number(ttlMs ?? -1) < 0 : Number(ttlMs ?? 0) > 0
    if (isKept) this.#kept.set(key, result)
  }

  /** The parameters that answer the questions of a result. */
  async #roundOf({ inputRequests, requestState }: Message): Promise<Message> {
    const answers: [string, unknown][] = []
    for (const [key, one] of Object.entries(isObject(inputRequests) ? inputRequests : {})) {
      const answer = await this.#answerTo(String(member(one, 'method')), member(one, 'params'))
      if (answer === undefined) throw new Error(`there is no answer to ${key}`)
      answers.push([key, answer])
    }
    return {
      inputResponses: Object.fromEntries(answers) as Message,
      ...(requestState !== undefined && { requestState }),
    }
  }

  #progress(): Message {
    return { _meta: { progressToken: `p${this.#nextId}` } }
  }

  /** The session is over: a new one begins. */
  async #again(): Promise<void> {
    if (this.#has('gives up without a session') || !(this.#link instanceof RawHttp)) return
    this.#link.session = undefined
    this.#link.isGreeted = false
    await this.#initialize()
  }

  async #tried(method: string, params: Message = {}, id?: unknown): Promise<Message> {
    try {
      const key = this.#has('caches by method') ? method : `${method} ${JSON.stringify(params)}`
      const kept = this.#kept.get(key)
      if (kept !== undefined) return kept
      const result = await this.#rounds(method, params, id)
      if (this.#has('caches by method') || this.#has('caches without a lifetime')) this.#keep(key, result)
      return result
    } catch (error) {
      if (error instanceof HttpRefusal && error.status === 404) await this.#again()
      return {}
    }
  }

  #paramHeaders({ method, params }: Message): Readonly<Record<string, string>> {
    if (method !== 'tools/call') return {}
    const tool = this.#tools.find(({ name }) => name === member(params, 'name'))
    const found = headerNames(tool).flatMap(({ property, header }): [string, string][] => {
      const value = member(params, 'arguments', property)
      return value === undefined || value === null
        ? []
        : [
            [
              `mcp-param-${header.toLowerCase()}`,
              encodedHeader(typeof value === 'string' ? value : JSON.stringify(value)),
            ],
          ]
    })
    return Object.fromEntries(found)
  }
}

function isWorking({ taskId, status }: Message): boolean {
  return taskId !== undefined && status === 'working'
}

function itemsOf(list: unknown): readonly Message[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

function headerNames(
  tool: Message | undefined,
): readonly { property: string; header: string; isGood: boolean }[] {
  const properties = member(tool, 'inputSchema', 'properties')
  if (!isObject(properties)) return []
  return Object.entries(properties).flatMap(([property, schema]) => {
    const header = member(schema, 'x-mcp-header')
    if (typeof header !== 'string') return []
    const type = member(schema, 'type')
    const isGood =
      typeof header === 'string' &&
      /^[\w-]+$/.test(header) &&
      ['string', 'integer', 'boolean'].includes(String(type))
    return [{ property, header, isGood }]
  })
}

/** The defaults of a schema as arguments. */
export function argumentsOf(schema: unknown): Message {
  const properties = member(schema, 'properties')
  if (!isObject(properties)) return {}
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, one]) =>
      member(one, 'default') === undefined ? [] : [[name, member(one, 'default')]],
    ),
  )
}
