import type { Message } from '../protocol/jsonrpc.ts'
import type { WireAdapter, MethodParams } from '../protocol/wire-adapter.ts'
import type { Choices } from '../protocol/choices.ts'
import type { Revision } from '../protocol/revisions.ts'
import { hasEnvelope } from '../wire/2026-07-28/decode.ts'
import { annotations } from './erlmcp/annotations.ts'
import { binaryContents } from './erlmcp/binary-contents.ts'
import { clientCapabilities } from './erlmcp/client-capabilities.ts'
import { completionShape } from './erlmcp/completion-shape.ts'
import { errorNumbers } from './erlmcp/error-numbers.ts'
import { extensionNames } from './erlmcp/extension-names.ts'
import { httpStatus } from './erlmcp/http-status.ts'
import { jsonrpcLoose } from './erlmcp/jsonrpc-loose.ts'
import { initialized } from './erlmcp/initialized.ts'
import { notificationNames } from './erlmcp/notification-names.ts'
import { progressTokens } from './erlmcp/progress-tokens.ts'
import { resourceBlocks } from './erlmcp/resource-blocks.ts'
import { samplingFields } from './erlmcp/sampling-fields.ts'
import { serverCapabilities } from './erlmcp/server-capabilities.ts'
import { tasksCreate } from './erlmcp/tasks-create.ts'
import { toolExecute } from './erlmcp/tool-execute.ts'

/** The conversions of one choice. */
export type PartialAdapter = Partial<WireAdapter>

/** Creates the conversions of a choice; undefined for the official value. */
export type CreateAdapter = (choices: Choices, revision: Revision) => PartialAdapter | undefined

const MAKERS: readonly CreateAdapter[] = [
  jsonrpcLoose,
  toolExecute,
  tasksCreate,
  extensionNames,
  progressTokens,
  notificationNames,
  initialized,
  errorNumbers,
  httpStatus,
  binaryContents,
  resourceBlocks,
  completionShape,
  annotations,
  serverCapabilities,
  clientCapabilities,
  samplingFields,
]

/** The wire adapter of a profile at a revision; undefined if it does not change messages. */
export function adapterOf(choices: Choices, revision: Revision): WireAdapter | undefined {
  const parts = MAKERS.flatMap((make) => make(choices, revision) ?? [])
  return parts.length === 0 ? undefined : joined(parts)
}

/** Converts a message to the official form. Requests of the newest revision are official already. */
function opened(message: Message, adapter: WireAdapter): Message {
  const { id, method, params } = message
  if (method === undefined || hasEnvelope(params)) return message
  const body = { method, params: params ?? {} }
  return {
    ...message,
    ...(id === undefined ? adapter.decodeNotification(body) : adapter.decodeRequest(body)),
  }
}

/** All parts as one adapter: each part receives what the one before it returned. */
function joined(parts: readonly PartialAdapter[]): WireAdapter {
  const inTurn = <Value>(
    value: Value,
    step: (part: PartialAdapter, value: Value) => Value | undefined,
  ): Value => parts.reduce((last, part) => step(part, last) ?? last, value)
  const find = <Name extends keyof PartialAdapter>(name: Name): PartialAdapter[Name] | undefined =>
    parts.find((part) => part[name] !== undefined)?.[name]
  const all: WireAdapter = {
    read: find('read'),
    decode: (message) => opened(message, all),
    decodeRequest: (body) => inTurn<MethodParams>(body, (part, last) => part.decodeRequest?.(last)),
    decodeNotification: (body) => inTurn<MethodParams>(body, (part, last) => part.decodeNotification?.(last)),
    decodeResult: (method, result) => inTurn(result, (part, last) => part.decodeResult?.(method, last)),
    meaning: find('meaning'),
    encodeRequest: (method, params) => inTurn(params, (part, last) => part.encodeRequest?.(method, last)),
    encodeNotification: (body) => inTurn<MethodParams>(body, (part, last) => part.encodeNotification?.(last)),
    encodeResult: (method, result) => inTurn(result, (part, last) => part.encodeResult?.(method, last)),
    allowsNonObject: (method) => find('allowsNonObject')?.(method) ?? false,
    encodeNonObject: (method, result) => find('encodeNonObject')?.(method, result),
    encodeError: (error, official) => inTurn(official, (part, last) => part.encodeError?.(error, last)),
    statusOf: (error, status) => inTurn(status, (part, last) => part.statusOf?.(error, last)),
    afterAnswer: (method, notify) => parts.forEach((part) => part.afterAnswer?.(method, notify)),
  }
  return all
}
