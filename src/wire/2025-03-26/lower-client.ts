import type {
  Annotations,
  ClientCapabilities,
  CompleteRequestParams,
  CreateMessageResult,
  Implementation,
  Root,
  SamplingBlock,
} from '../../protocol/spec/2026-07-28.ts'
import type { ClientLowering } from '../lowering.ts'
import { change, changeBlocks, omit } from '../reshape.ts'

/** What clients send, from 2025-06-18 to 2025-03-26. */
export const clientLowering: ClientLowering = {
  /** Only name and version are kept. */
  implementation: (value: Implementation) => omit(value, 'title'),
  /** Elicitation is not declared. */
  clientCapabilities: (value: ClientCapabilities) => omit(value, 'elicitation'),
  /** `context` and the title of the reference are dropped. */
  complete: lowerComplete,
  /** `_meta` and `annotations.lastModified` are dropped from the block. */
  sampleResult: (result: CreateMessageResult) => changeBlocks(result, lowerSampled),
  /** `_meta` is dropped. */
  root: (value: Root) => omit(value, '_meta'),
}

export function withoutDate<Value extends { readonly annotations?: Annotations | undefined }>(
  value: Value,
): Value {
  return value.annotations?.lastModified === undefined
    ? value
    : { ...value, annotations: omit(value.annotations, 'lastModified') }
}

function lowerComplete(params: CompleteRequestParams): CompleteRequestParams {
  return change(omit(params, 'context'), 'ref', (ref) => omit(ref, 'title'))
}

export function lowerSampled(block: SamplingBlock): SamplingBlock {
  return block.type === 'tool_use' || block.type === 'tool_result' ? block : withoutDate(omit(block, '_meta'))
}
