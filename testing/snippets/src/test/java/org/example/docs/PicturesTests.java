package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

import static org.assertj.core.api.Assertions.assertThat;

/** The drawn pictures of the pages can be read by everyone, and that of the states has those of the class. */
@Tag("this-build")
class PicturesTests {

    private static final Path IMAGES = Page.ROOT.resolve("docs/images");

    static Stream<Path> pictures() throws IOException {
        try (Stream<Path> found = Files.list(IMAGES)) {
            return found.filter(file -> file.toString().endsWith(".svg")).sorted().toList().stream();
        }
    }

    private static Element read(Path picture) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(picture.toFile())
                .getDocumentElement();
    }

    private static List<String> texts(Element picture, String tag) {
        NodeList found = picture.getElementsByTagName(tag);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            texts.add(found.item(i).getTextContent());
        }
        return texts;
    }

    @ParameterizedTest
    @MethodSource("pictures")
    void eachIsDescribedInWordsAndDrawnForDarkBackgroundsToo(Path file) throws Exception {
        Element picture = read(file);
        assertThat(texts(picture, "title")).hasSize(1);
        assertThat(texts(picture, "desc")).hasSize(1);
        assertThat(texts(picture, "style")).singleElement().asString().contains("prefers-color-scheme: dark");
    }

    @Test
    void theStatesOfAnIdAreThoseOfTheClass() throws Exception {
        Class<?> states = Class.forName("io.github.lockboot.engine.Id$Life");
        List<String> drawn = texts(read(IMAGES.resolve("states.svg")), "text");
        assertThat(states.getEnumConstants()).hasSize(4).allMatch(state -> drawn.contains(state.toString()));
    }
}
