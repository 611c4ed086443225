import { isObject } from '../../protocol/jsonrpc.ts'
import type { CreateMessageResult, SamplingBlock } from '../../protocol/spec/2026-07-28.ts'
import type { ClientLowering } from '../lowering.ts'
import { changeBlocks } from '../reshape.ts'

/** What clients send, from 2026-07-28 to 2025-11-25. */
export const clientLowering: ClientLowering = {
  /** Structured content of tool results inside the model's answer that is not an object becomes `{ result }`. */
  sampleResult: (result: CreateMessageResult) => changeBlocks(result, lowerSampled),
}

export function wrapStructured<Value extends { readonly structuredContent?: unknown }>(value: Value): Value {
  const { structuredContent } = value
  if (structuredContent === undefined || isObject(structuredContent)) return value
  return { ...value, structuredContent: { result: structuredContent } }
}

export function lowerSampled(block: SamplingBlock): SamplingBlock {
  return block.type === 'tool_result' ? wrapStructured(block) : block
}
