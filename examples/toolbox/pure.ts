import type { ToolMap } from 'pierhead'
import { z } from 'zod'

/** A tool that only computes: equal arguments have equal results, and nothing changes. */
export function pure<In extends z.ZodRawShape, Out extends z.ZodRawShape>(
  description: string,
  input: In,
  output: Out,
  run: (input: z.output<z.ZodObject<In>>) => z.input<z.ZodObject<Out>>,
): ToolMap[string] {
  return {
    description,
    input: z.strictObject(input),
    output: z.strictObject(output),
    hints: { readOnly: true, openWorld: false },
    run,
  }
}

/** Removes the last digits of a number, in which the errors of floating-point arithmetic are. */
export function tidy(value: number): number {
  return Number(value.toPrecision(12))
}

/** The characters of a text, where an emoji may be several. */
export function charactersOf(text: string): string[] {
  return Array.from(text)
}

/** Replaces halves of characters, which no encoding can express. */
export function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}

// The examples are what the cases of `pierhead test --generate` begin with.

export const TEXT: z.ZodString = z
  .string()
  .max(20_000)
  .meta({ examples: ['The tide turns at nine.'] })
export const NUMBER: z.ZodNumber = z
  .number()
  .min(-1e15)
  .max(1e15)
  .meta({ examples: [12.5] })
export const NUMBERS: z.ZodArray<z.ZodNumber> = z
  .array(NUMBER)
  .min(1)
  .max(1000)
  .meta({ examples: [[4, 8, 15, 16, 23, 42]] })
export const ITEMS: z.ZodArray<z.ZodString> = z
  .array(z.string().max(1000))
  .max(1000)
  .meta({ examples: [['rope', 'buoy', 'rope', 'anchor']] })
export const DATE: z.ZodISODate = z.iso.date().meta({ examples: ['2026-07-28'] })
