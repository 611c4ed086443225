import { memory } from '../../src/stores.ts'
import { findsPlanted, later, type Faults } from './planted.ts'

const LONG_MS = 3_600_000

const EVENTS: Faults<'events'> = {
  'events are numbered from 0 on, and read as they were added': ['drivers do not share', 'unshared'],
  'every text is kept as it is': [
    'lone surrogates are replaced',
    (store) => ({
      append: (session, stream, event, room) =>
        store.append(session, stream, { ...event, text: Buffer.from(event.text).toString() }, room),
    }),
  ],
  'large texts are kept': [
    'large texts are cut',
    (store) => ({
      append: (session, stream, event, room) =>
        store.append(session, stream, { ...event, text: event.text.slice(0, 1 << 19) }, room),
    }),
  ],
  'a stream must be opened first': [
    'streams are opened by their first event',
    (store) => ({
      append(session, stream, event, room) {
        void store.open(session, stream, '', room)
        return store.append(session, stream, event, room)
      },
    }),
  ],
  'opening a stream again leaves its events': [
    'opening empties a stream',
    (store) => ({
      async open(session, stream, writer, room) {
        await store.forget(session, stream)
        await store.open(session, stream, writer, room)
      },
    }),
  ],
  'a stream is read from any event on, page by page': [
    'pages are not limited',
    (store) => ({ read: (session, stream, after) => store.read(session, stream, after, 1000) }),
  ],
  'streams and sessions do not mix': [
    'sessions share streams of the same name',
    (store) => ({
      open: (_session, ...rest) => store.open('one', ...rest),
      append: (_session, ...rest) => store.append('one', ...rest),
      read: (_session, ...rest) => store.read('one', ...rest),
    }),
  ],
  'the head of a stream tells what is kept': [
    'heads count from the first event',
    (store) => ({
      async head(session, stream) {
        const head = await store.head(session, stream)
        return head && { ...head, first: 0, next: head.next - head.first }
      },
    }),
  ],
  'a stream ends with its last event': [
    'streams never end',
    (store) => ({
      append: (session, stream, { isLast: _, ...event }, room) => store.append(session, stream, event, room),
    }),
  ],
  'an event with a number is added once': [
    'numbers are ignored',
    (store) => ({
      append: (session, stream, { seq: _, ...event }, room) => store.append(session, stream, event, room),
    }),
  ],
  'a stream takes only positions after its last one': [
    'positions are ignored',
    (store) => ({
      append: (session, stream, { position: _, ...event }, room) =>
        store.append(session, stream, event, room),
    }),
  ],
  'a request that is given up gets no more events': [
    'requests are ignored',
    (store) => ({
      append: (session, stream, { requests: _, ...event }, room) =>
        store.append(session, stream, event, room),
    }),
  ],
  'writers at the same time get numbers of their own': [
    'numbers are guessed',
    (store) => ({
      async append(session, stream, event, room) {
        const page = await store.read(session, stream, -1, 1000)
        await later()
        await store.append(session, stream, event, room)
        return page?.events.length
      },
    }),
  ],
  'the oldest events make room for new ones': [
    'the number of events is not limited',
    (store) => ({
      append: (session, stream, event, room) =>
        store.append(session, stream, event, { ...room, events: Infinity }),
    }),
  ],
  'the bytes of a stream are limited': [
    'bytes are not limited',
    (store) => ({
      append: (session, stream, event, room) =>
        store.append(session, stream, event, { ...room, bytes: Infinity }),
    }),
  ],
  'events before a number are discarded, and the numbers go on': [
    'discarding begins the numbers again',
    (store) => ({
      async trim(session, stream) {
        await store.forget(session, stream)
        await store.open(session, stream, 'node-1', { events: 9, bytes: 1000, idleMs: LONG_MS })
      },
    }),
  ],
  'a stream without events ends after its time': [
    'streams never end by themselves',
    (store) => ({
      append: (session, stream, event, room) =>
        store.append(session, stream, event, { ...room, idleMs: LONG_MS }),
    }),
  ],
  'opening a stream again gives it a new time': [
    'opening does nothing then',
    (store) => ({
      async open(session, stream, writer, room) {
        if ((await store.read(session, stream, -1, 1)) === undefined)
          await store.open(session, stream, writer, room)
      },
    }),
  ],
  'events prolong a stream': [
    'the time counts from the beginning',
    (store) => ({
      append: (session, stream, event, room) =>
        store.append(session, stream, event, { ...room, idleMs: LONG_MS }),
    }),
  ],
  'a stream is forgotten, or all of a session': [
    'only single streams are forgotten',
    (store) => ({ forget: (session, stream) => store.forget(session, stream ?? '') }),
  ],
  'watchers hear of events, also through other nodes': [
    'watchers hear nothing',
    () => ({ watch: () => () => {} }),
  ],
  'watchers hear that a stream was forgotten': [
    'watchers hear of events only',
    () => ({ watch: () => () => {} }),
  ],
  'each watcher is stopped by itself': [
    'stopping one watcher stops all',
    (store) => {
      const stops: (() => void)[] = []
      return {
        watch(session, stream, onNews) {
          stops.push(store.watch(session, stream, onNews))
          return () => stops.forEach((stop) => stop())
        },
      }
    },
  ],
}

findsPlanted('events', EVENTS, memory)
