package org.example.docs;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

import com.jayway.jsonpath.JsonPath;

/** What all libraries here tell editors of their configuration properties. */
final class Metadata {

    private Metadata() {}

    static List<Map<String, Object>> properties() throws IOException {
        List<Map<String, Object>> properties = new ArrayList<>();
        for (URL metadata : Collections.list(
                Metadata.class.getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
            try (InputStream json = metadata.openStream()) {
                properties.addAll(JsonPath.parse(json).read("$.properties[*]"));
            }
        }
        return properties;
    }
}
