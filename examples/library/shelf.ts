export interface Book {
  readonly id: string
  readonly title: string
  readonly text: string
}

const BOOKS: readonly Book[] = [
  { id: 'moby-dick', title: 'Moby-Dick', text: 'Call me Ishmael.' },
  { id: 'emma', title: 'Emma', text: 'Emma Woodhouse, handsome, clever, and rich…' },
]

/** The books that people have borrowed, by reader. */
export class Shelf {
  readonly #borrowed = new Map<string, Set<string>>()

  borrow(reader: string, id: string): Book | undefined {
    const book = BOOKS.find((one) => one.id === id)
    if (book !== undefined) this.#borrowed.set(reader, (this.#borrowed.get(reader) ?? new Set()).add(id))
    return book
  }

  booksOf(reader: string): readonly Book[] {
    return BOOKS.filter(({ id }) => this.#borrowed.get(reader)?.has(id))
  }
}
