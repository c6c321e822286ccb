import { Injectable, type PipeTransform } from '@nestjs/common';
import { MessagingError } from '../common/errors.js';
import { type SandboxMedia, sandboxMedia } from './sandbox-media.js';

/** The file of a name. */
@Injectable()
export class SandboxMediaPipe implements PipeTransform<string, SandboxMedia> {
  transform(name: string): SandboxMedia {
    const file = sandboxMedia(name);
    if (!file) throw new MessagingError('error.file_not_found');
    return file;
  }
}
