import { ToolError, type ToolMap } from 'pierhead'
import { z } from 'zod'
import { pure, tidy } from '../pure.ts'

const PLACE = z.strictObject({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
})
const POINT = z.strictObject({ x: z.number().min(-1e6).max(1e6), y: z.number().min(-1e6).max(1e6) })
const POINTS = z
  .array(POINT)
  .min(3)
  .max(1000)
  .meta({
    description: 'The corners of a polygon, in order.',
    examples: [
      [
        { x: 0, y: 0 },
        { x: 4, y: 0 },
        { x: 4, y: 3 },
      ],
    ],
  })
const SIDE = z
  .number()
  .min(0.000_001)
  .max(1e6)
  .meta({ examples: [5] })

type Place = z.output<typeof PLACE>
type Point = z.output<typeof POINT>

/** The mean radius of the Earth, in kilometres. */
const EARTH = 6371.0088
const radians = (degrees: number): number => (degrees * Math.PI) / 180
const degrees = (angle: number): number => (angle * 180) / Math.PI
const rounded = (value: number, digits: number): number => Number(value.toFixed(digits)) + 0

/** The angle between two places, seen from the centre of the Earth. */
function angleBetween(a: Place, b: Place): number {
  const [dLat, dLon] = [radians(b.latitude - a.latitude), radians(b.longitude - a.longitude)]
  const h =
    Math.sin(dLat / 2) ** 2 +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(dLon / 2) ** 2
  return 2 * Math.asin(Math.min(1, Math.sqrt(h)))
}

function bearing(a: Place, b: Place): number {
  const [from, to, dLon] = [radians(a.latitude), radians(b.latitude), radians(b.longitude - a.longitude)]
  const angle = Math.atan2(
    Math.sin(dLon) * Math.cos(to),
    Math.cos(from) * Math.sin(to) - Math.sin(from) * Math.cos(to) * Math.cos(dLon),
  )
  return (degrees(angle) + 360) % 360
}

function destination(from: Place, course: number, kilometres: number): Place {
  const [lat, lon, angle, way] = [
    radians(from.latitude),
    radians(from.longitude),
    radians(course),
    kilometres / EARTH,
  ]
  const end = Math.asin(Math.sin(lat) * Math.cos(way) + Math.cos(lat) * Math.sin(way) * Math.cos(angle))
  const turn = Math.atan2(
    Math.sin(angle) * Math.sin(way) * Math.cos(lat),
    Math.cos(way) - Math.sin(lat) * Math.sin(end),
  )
  return {
    latitude: rounded(degrees(end), 6),
    longitude: rounded(((degrees(lon + turn) + 540) % 360) - 180, 6),
  }
}

/** The sides of a polygon. */
const sidesOf = (points: readonly Point[]): readonly (readonly [Point, Point])[] =>
  points.map((point, i) => [point, points[(i + 1) % points.length] ?? point] as const)

/** Whether a ray from the point crosses the sides an odd number of times. */
const contains = (points: readonly Point[], { x, y }: Point): boolean =>
  sidesOf(points).filter(([a, b]) => a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x)
    .length %
    2 ===
  1

export const geometry: ToolMap = {
  geometry_distance: pure(
    'Measures the distance between two places on the Earth, along the shortest way.',
    { from: PLACE, to: PLACE },
    { kilometres: z.number(), nauticalMiles: z.number() },
    ({ from, to }) => {
      const kilometres = angleBetween(from, to) * EARTH
      return { kilometres: rounded(kilometres, 3), nauticalMiles: rounded(kilometres / 1.852, 3) }
    },
  ),
  geometry_bearing: pure(
    'Finds the course, in degrees from north, on which the way from one place to another begins.',
    { from: PLACE, to: PLACE },
    { degrees: z.number() },
    ({ from, to }) => ({ degrees: rounded(bearing(from, to), 3) }),
  ),
  geometry_destination: pure(
    'Finds the place that a course and a distance lead to.',
    { from: PLACE, bearing: z.number().min(0).max(360), kilometres: z.number().min(0).max(20_000) },
    { latitude: z.number(), longitude: z.number() },
    ({ from, bearing: course, kilometres }) => destination(from, course, kilometres),
  ),
  geometry_circle: pure(
    'Measures a circle.',
    { radius: SIDE },
    { diameter: z.number(), circumference: z.number(), area: z.number() },
    ({ radius }) => ({
      diameter: tidy(2 * radius),
      circumference: tidy(2 * Math.PI * radius),
      area: tidy(Math.PI * radius ** 2),
    }),
  ),
  geometry_triangle: pure(
    'Measures a triangle with three given sides.',
    { a: SIDE, b: SIDE, c: SIDE },
    { perimeter: z.number(), area: z.number(), right: z.boolean() },
    ({ a, b, c }) => {
      const [short, middle, long] = [a, b, c].toSorted((x, y) => x - y) as [number, number, number]
      if (short + middle <= long) throw new ToolError('The longest side is as long as the others together.')
      const half = (a + b + c) / 2
      return {
        perimeter: tidy(a + b + c),
        area: tidy(Math.sqrt(half * (half - a) * (half - b) * (half - c))),
        right: tidy(short ** 2 + middle ** 2) === tidy(long ** 2),
      }
    },
  ),
  geometry_polygon: pure(
    'Measures a polygon whose sides do not cross.',
    { points: POINTS },
    { perimeter: z.number(), area: z.number() },
    ({ points }) => ({
      perimeter: tidy(sidesOf(points).reduce((sum, [a, b]) => sum + Math.hypot(b.x - a.x, b.y - a.y), 0)),
      area: tidy(Math.abs(sidesOf(points).reduce((sum, [a, b]) => sum + a.x * b.y - b.x * a.y, 0)) / 2),
    }),
  ),
  geometry_contains: pure(
    'Says whether a point lies inside a polygon.',
    { points: POINTS, point: POINT },
    { inside: z.boolean() },
    ({ points, point }) => ({ inside: contains(points, point) }),
  ),
  geometry_bounds: pure(
    'Finds the smallest upright rectangle around points, and its centre.',
    { points: POINTS },
    { least: POINT, greatest: POINT, centre: POINT },
    ({ points }) => {
      const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
      const least = { x: Math.min(...xs), y: Math.min(...ys) }
      const greatest = { x: Math.max(...xs), y: Math.max(...ys) }
      return { least, greatest, centre: { x: (least.x + greatest.x) / 2, y: (least.y + greatest.y) / 2 } }
    },
  ),
}
