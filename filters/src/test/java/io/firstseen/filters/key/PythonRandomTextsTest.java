package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.PythonFormsTest.Question;
import io.firstseen.filters.snapshot.PythonPackage;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;

/** Like {@link PythonFormsTest}, of random texts. Without Python it does nothing. */
class PythonRandomTextsTest {

  @Provide
  static Arbitrary<List<String>> texts() {
    return UrlTexts.any().list().ofSize(1_000 * Integer.getInteger("firstseen.scale", 1));
  }

  @Property(seed = "242", tries = 1, edgeCases = EdgeCasesMode.NONE, shrinking = ShrinkingMode.OFF)
  void textsThatAreNearlyUrls(@ForAll("texts") List<String> texts) throws Exception {
    if (PythonPackage.isThere()) {
      List<Question> questions = new ArrayList<>();
      for (String text : texts) {
        questions.addAll(PythonFormsTest.aboutUrl(text.getBytes(UTF_8)));
      }
      assertThat(PythonFormsTest.ask(questions)).isGreaterThan(1_000);
    }
  }
}
