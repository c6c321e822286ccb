/** Finds the end of a picture while its bytes arrive. */
export interface PictureEnd {
  /** Takes the next bytes. */
  pass(chunk: Uint8Array): void;
  /** Whether the picture is complete. Apps ignore bytes that follow. */
  readonly hasEnded: boolean;
}

/**
 * Returns an object that finds the end of a picture of this type; undefined for other types. It finds the end of the
 * picture itself, not that of a thumbnail in it. Cameras put such a thumbnail into the Exif data.
 */
export function pictureEndOf(mimetype: string): PictureEnd | undefined {
  if (mimetype === 'image/jpeg') return new JpegEnd();
  return mimetype === 'image/png' ? new PngEnd() : undefined;
}

const EOI = 0xd9;

/** Walks through a picture. Parts of known length are skipped, so that markers in them are ignored. */
abstract class PictureWalk implements PictureEnd {
  abstract readonly hasEnded: boolean;

  /** @param skipped how many bytes are skipped next */
  constructor(protected skipped: number) {}

  pass(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length && !this.hasEnded) {
      const bytes = Math.min(this.skipped, chunk.length - at);
      this.skipped -= bytes;
      at = bytes > 0 ? at + bytes : this.read(chunk, at);
    }
  }

  /** Reads from `at` and returns the place of the next read, at least one byte further. */
  protected abstract read(chunk: Uint8Array, at: number): number;
}

/** Walks the segments of a JPEG (ITU-T T.81 annex B) up to the marker EOI. */
class JpegEnd extends PictureWalk {
  hasEnded = false;
  /** The next part. `data`: the data of a scan, which may be empty and ends at 0xFF. */
  private next: 'data' | 'marker' | 'length' | 'lengthEnd' = 'data';
  private length = 0;

  constructor() {
    super(0);
  }

  protected override read(chunk: Uint8Array, at: number): number {
    if (this.next !== 'data') {
      this.byte(chunk[at] ?? 0);
      return at + 1;
    }
    const marker = chunk.indexOf(0xff, at);
    if (marker < 0) return chunk.length;
    this.next = 'marker';
    return marker + 1;
  }

  private byte(value: number): void {
    if (this.next === 'length') {
      this.length = value << 8;
      this.next = 'lengthEnd';
    } else if (this.next === 'lengthEnd') {
      // The length counts its own two bytes.
      this.skipped = Math.max(this.length + value - 2, 0);
      this.next = 'data';
    } else if (value === EOI) {
      this.hasEnded = true;
    } else if (value !== 0xff) {
      // A 0xFF that belongs to the data is followed by 0. TEM, SOI and the restart markers have no content.
      this.next = value <= 0x01 || (value >= 0xd0 && value <= 0xd8) ? 'data' : 'length';
    }
  }
}

/** The eight bytes with which every PNG begins. */
const PNG_SIGNATURE_BYTES = 8;

/** Walks the chunks of a PNG (ISO/IEC 15948 clause 5.3) up to the end of IEND. */
class PngEnd extends PictureWalk {
  private readonly header = Buffer.alloc(8);
  private filled = 0;
  private isLast = false;

  constructor() {
    super(PNG_SIGNATURE_BYTES);
  }

  get hasEnded(): boolean {
    return this.isLast && this.skipped === 0;
  }

  protected override read(chunk: Uint8Array, at: number): number {
    this.header[this.filled++] = chunk[at] ?? 0;
    if (this.filled === this.header.length) {
      this.filled = 0;
      this.isLast = this.header.toString('latin1', 4) === 'IEND';
      // The content is skipped, and its checksum of four bytes.
      this.skipped = this.header.readUInt32BE(0) + 4;
    }
    return at + 1;
  }
}
