import type { ToolMap } from 'pierhead'
import { z } from 'zod'
import { pure } from '../pure.ts'

const HEX = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/)
  .meta({ description: 'A colour such as #3366cc.', examples: ['#3366cc'] })
const PART = z.int().min(0).max(255)
const PERCENT = z.number().min(0).max(100)

type Rgb = readonly [red: number, green: number, blue: number]
type Hsl = readonly [hue: number, saturation: number, lightness: number]

const rgbOf = (hex: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb
const hexOf = (rgb: Rgb): string =>
  `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`

function hslOf(rgb: Rgb): Hsl {
  const [r, g, b] = rgb.map((part) => part / 255) as unknown as Rgb
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)]
  const [span, lightness] = [most - least, (most + least) / 2]
  if (span === 0) return [0, 0, lightness * 100]
  const turn = most === r ? (g - b) / span : most === g ? (b - r) / span + 2 : (r - g) / span + 4
  return [(turn * 60 + 360) % 360, (span / (1 - Math.abs(2 * lightness - 1))) * 100, lightness * 100]
}

function fromHsl([hue, saturation, lightness]: Hsl): Rgb {
  const [s, l] = [saturation / 100, lightness / 100]
  const part = (offset: number): number => {
    const k = (offset + hue / 30) % 12
    return 255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1)))
  }
  return [part(0), part(8), part(4)]
}

/** The relative luminance that WCAG defines. */
function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map((part) => {
    const share = part / 255
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as unknown as Rgb
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(rgbOf(a)), luminance(rgbOf(b))].toSorted((x, y) => x - y) as [
    number,
    number,
  ]
  return Math.round(((light + 0.05) / (dark + 0.05)) * 100) / 100
}

const LEVELS = [
  [7, 'AAA'],
  [4.5, 'AA'],
  [3, 'AA large'],
  [0, 'none'],
] as const
const TEXTS = ['#000000', '#ffffff'] as const

const clamp = (value: number): number => Math.min(100, Math.max(0, value))

export const colours: ToolMap = {
  colour_parse: pure(
    'Takes a colour apart: red, green and blue, and hue, saturation and lightness.',
    { colour: HEX },
    { rgb: z.array(z.int()).length(3), hsl: z.array(z.number()).length(3) },
    ({ colour }) => {
      const rgb = rgbOf(colour)
      return { rgb: [...rgb], hsl: hslOf(rgb).map((part) => Math.round(part)) }
    },
  ),
  colour_from_rgb: pure(
    'Writes a colour of red, green and blue as #rrggbb.',
    { red: PART, green: PART, blue: PART },
    { colour: z.string() },
    ({ red, green, blue }) => ({ colour: hexOf([red, green, blue]) }),
  ),
  colour_from_hsl: pure(
    'Writes a colour of hue, saturation and lightness as #rrggbb.',
    { hue: z.number().min(0).max(360), saturation: PERCENT, lightness: PERCENT },
    { colour: z.string() },
    ({ hue, saturation, lightness }) => ({ colour: hexOf(fromHsl([hue, saturation, lightness])) }),
  ),
  colour_mix: pure(
    'Mixes two colours; the share is that of the second.',
    { a: HEX, b: HEX, share: z.number().min(0).max(1).default(0.5) },
    { colour: z.string() },
    ({ a, b, share }) => {
      const [from, to] = [rgbOf(a), rgbOf(b)]
      const mixed = from.map((part, i) => part + ((to[i] ?? 0) - part) * share)
      return { colour: hexOf(mixed as unknown as Rgb) }
    },
  ),
  colour_contrast: pure(
    'Measures the contrast of text on a background, and says which level of WCAG it meets.',
    { text: HEX, background: HEX },
    { ratio: z.number(), level: z.enum(['AAA', 'AA', 'AA large', 'none']) },
    ({ text, background }) => {
      const ratio = contrast(text, background)
      const [, level] = LEVELS.find(([least]) => ratio >= least) ?? LEVELS[3]
      return { ratio, level }
    },
  ),
  colour_readable: pure(
    'Says whether black or white text is easier to read on a background.',
    { background: HEX },
    { text: z.enum(TEXTS), ratio: z.number() },
    ({ background }) => {
      const [black, white] = TEXTS.map((text) => ({ text, ratio: contrast(text, background) }))
      return black!.ratio >= white!.ratio ? black! : white!
    },
  ),
  colour_lighten: pure(
    'Makes a colour lighter by so many percent, or darker if they are negative.',
    {
      colour: HEX,
      by: z
        .number()
        .min(-100)
        .max(100)
        .meta({ examples: [10] }),
    },
    { colour: z.string() },
    ({ colour, by }) => {
      const [hue, saturation, lightness] = hslOf(rgbOf(colour))
      return { colour: hexOf(fromHsl([hue, saturation, clamp(lightness + by)])) }
    },
  ),
  colour_complement: pure(
    'Finds the colour on the opposite side of the colour wheel.',
    { colour: HEX },
    { colour: z.string() },
    ({ colour }) => {
      const [hue, saturation, lightness] = hslOf(rgbOf(colour))
      return { colour: hexOf(fromHsl([(hue + 180) % 360, saturation, lightness])) }
    },
  ),
}
