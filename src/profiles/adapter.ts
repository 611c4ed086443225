import type { ReceivedMessage, WireAdapter, MethodParams } from '../protocol/wire-adapter.ts'
import type { Choices } from '../protocol/choices.ts'
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
import { toolExecute } from './erlmcp/tool-execute.ts'

/** What one choice changes; what it does not name stays as it is. */
export type PartialAdapter = Partial<WireAdapter>

/** Makes the habit of a choice; undefined where it was made officially. */
export type CreateAdapter = (choices: Choices) => PartialAdapter | undefined

const MAKERS: readonly CreateAdapter[] = [
  jsonrpcLoose,
  toolExecute,
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

/** What a profile does to messages; undefined when it does nothing. */
export function adapterOf(choices: Choices): WireAdapter | undefined {
  const parts = MAKERS.flatMap((make) => make(choices) ?? [])
  return parts.length === 0 ? undefined : joined(parts)
}

/** A message in the official form. What claims the newest revision speaks it as it is. */
function opened<Message extends ReceivedMessage>(message: Message, adapter: WireAdapter): Message {
  const { id, method, params } = message
  if (method === undefined || hasEnvelope(params)) return message
  const told = { method, params: params ?? {} }
  return {
    ...message,
    ...(id === undefined ? adapter.decodeNotification(told) : adapter.decodeRequest(told)),
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
    decodeRequest: (asked) => inTurn<MethodParams>(asked, (part, last) => part.decodeRequest?.(last)),
    decodeNotification: (told) => inTurn<MethodParams>(told, (part, last) => part.decodeNotification?.(last)),
    decodeResult: (method, result) => inTurn(result, (part, last) => part.decodeResult?.(method, last)),
    meaning: find('meaning'),
    encodeRequest: (method, params) => inTurn(params, (part, last) => part.encodeRequest?.(method, last)),
    encodeNotification: (told) => inTurn<MethodParams>(told, (part, last) => part.encodeNotification?.(last)),
    encodeResult: (method, result) => inTurn(result, (part, last) => part.encodeResult?.(method, last)),
    allowsNonObject: (method) => find('allowsNonObject')?.(method) ?? false,
    encodeNonObject: (method, result) => find('encodeNonObject')?.(method, result),
    encodeError: (error, official) => inTurn(official, (part, last) => part.encodeError?.(error, last)),
    statusOf: (error, status) => inTurn(status, (part, last) => part.statusOf?.(error, last)),
    afterAnswer: (method, tell) => parts.forEach((part) => part.afterAnswer?.(method, tell)),
  }
  return all
}
