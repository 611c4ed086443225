import type { ClientCapabilities, Implementation } from '../../protocol/spec/2026-07-28.ts'
import type { ClientLowering } from '../lowering.ts'
import { change, omit } from '../reshape.ts'
import { lowerSampleResult } from './sampling.ts'

/** What clients send, from 2025-11-25 to 2025-06-18. */
export const clientLowering: ClientLowering = {
  /** Only name, version and title are kept. */
  implementation: (value: Implementation) => omit(value, 'description', 'websiteUrl', 'icons'),
  /** The members of sampling and elicitation are dropped; elicitation is declared only if forms are supported. */
  clientCapabilities: lowerClient,
  /** Text blocks are joined into one; otherwise the first block is the answer. */
  sampleResult: lowerSampleResult,
}

function lowerClient(value: ClientCapabilities): ClientCapabilities {
  const { elicitation } = value
  const rest = omit(value, 'tasks', 'extensions')
  const plain = change(rest, 'sampling', (declared) => omit(declared, 'tools', 'context'))
  if (elicitation === undefined) return plain
  const urlOnly = elicitation.url !== undefined && elicitation.form === undefined
  return urlOnly
    ? omit(plain, 'elicitation')
    : change(plain, 'elicitation', (declared) => omit(declared, 'form', 'url'))
}
