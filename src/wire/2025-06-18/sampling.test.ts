import { expect, test } from 'vitest'
import type { CreateMessageResult } from '../../protocol/spec/2026-07-28.ts'
import { lowerSampleResult } from './sampling.ts'

const IMAGE = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const
const TEXT = { type: 'text', text: 'a cat' } as const

function lowered(content: CreateMessageResult['content']): unknown {
  return lowerSampleResult({ role: 'assistant', model: 'm', content }).content
}

test('of blocks that cannot be joined, the first is the answer', () => {
  expect(lowered([IMAGE, TEXT])).toEqual(IMAGE)
  expect(lowered([TEXT, IMAGE])).toEqual(TEXT)
})

test('texts are joined, and no blocks are an empty text', () => {
  expect(lowered([TEXT, { type: 'text', text: 'asleep' }])).toEqual({ type: 'text', text: 'a cat\n\nasleep' })
  expect(lowered([])).toEqual({ type: 'text', text: '' })
})
