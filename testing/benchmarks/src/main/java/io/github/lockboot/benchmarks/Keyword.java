package io.github.lockboot.benchmarks;

import java.nio.charset.StandardCharsets;

import io.lettuce.core.protocol.ProtocolKeyword;

/** The name of a command, also of one that Lettuce does not know. */
record Keyword(String word) implements ProtocolKeyword {

    @Override
    public byte[] getBytes() {
        return word.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public String toString() {
        return word;
    }
}
