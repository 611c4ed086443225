import { copyOf } from '../base/copy-of.ts'
import type {
  CreateMessageRequestParams,
  SamplingBlock,
  SamplingMessage,
} from '../protocol/spec/2026-07-28.ts'

/** The value without some members; the same object if it has none of them. */
export function omit<Value extends object>(value: Value, ...names: readonly string[]): Value {
  if (!names.some((name) => Object.hasOwn(value, name))) return value
  return copyOf(value as Readonly<Record<string, unknown>>, ...names) as Value
}

/** The value with one member changed; the same object if the member is absent or unchanged. */
export function change<Value extends object, Name extends keyof Value>(
  value: Value,
  name: Name,
  step: ((member: NonNullable<Value[Name]>) => Value[Name]) | undefined,
): Value {
  const member = value[name]
  if (step === undefined || member === undefined || member === null) return value
  const changed = step(member)
  return changed === member ? value : { ...value, [name]: changed }
}

/** The sampling message with every block changed; the same object if all blocks are unchanged. */
export function changeBlocks<Value extends Pick<SamplingMessage, 'content'>>(
  message: Value,
  step: (block: SamplingBlock) => SamplingBlock,
): Value {
  return change(message, 'content', (content) =>
    'type' in content ? step(content) : changeEach(content, step),
  )
}

/** The sampling request with every block of its messages changed. */
export function changeMessages(
  params: CreateMessageRequestParams,
  step: (block: SamplingBlock) => SamplingBlock,
): CreateMessageRequestParams {
  return change(params, 'messages', (messages) =>
    changeEach(messages, (message) => changeBlocks(message, step)),
  )
}

/** The list with every item changed; the same list if all items are unchanged. */
export function changeEach<Item>(
  items: readonly Item[],
  step: ((item: Item, index: number) => Item) | undefined,
): readonly Item[] {
  if (step === undefined) return items
  let changed: Item[] | undefined
  for (const [index, item] of items.entries()) {
    const next = step(item, index)
    if (next !== item) (changed ??= [...items])[index] = next
  }
  return changed ?? items
}
